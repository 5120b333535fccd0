"""List digests of the numba sources that Larder relies on, and the versions that have them."""

from __future__ import annotations

PINNED: dict[str, dict[str, str]] = {
    "cloudpickle.cloudpickle:_should_pickle_by_reference": {
        "216f21c851a6ec0fc67781aa513bd233": "0.65.0 to 0.68.1",
    },
    "core.base:BaseContext.compile_subroutine": {
        "26956c62fc3dee11d7c0d802cea4a9ad": "0.65.0 to 0.68.1",
    },
    "core.base:BaseContext.install_registry": {
        "bdaf4e9db8fe66e2b66846eb185c0771": "0.65.0 to 0.68.1",
    },
    "core.base:BaseContext.refresh": {
        "83e8f5cc63a7fee8fb80159b92a33b76": "0.65.0 to 0.68.1",
    },
    "core.bytecode:FunctionIdentity.from_function": {
        "701c4e5b476fbfab07100499c03cfc11": "0.65.0 to 0.68.1",
    },
    "core.caching:CompileResultCacheImpl.check_cachable": {
        "7646f78cf22ab4bf1fc70f49eb2db5c0": "0.65.0 to 0.68.1",
    },
    "core.caching:NullCache": {
        "4405257989b1531612d585db9aa00d25": "0.65.0 to 0.68.1",
    },
    "core.caching:_Cache": {
        "ee22baec643aa06317964362907c164a": "0.65.0 to 0.68.1",
    },
    "core.ccallback:CFunc": {
        "c6e5883e6d1e0dffed5bcae57341fe90": "0.65.0 to 0.68.1",
    },
    "core.codegen:CPUCodeLibrary._unserialize": {
        "c83d278d993487f35768b1aca22ca2c6": "0.65.0 to 0.68.1",
    },
    "core.codegen:CPUCodeLibrary.get_defined_functions": {
        "fef3fea589d08971cfa4f5f4f7f95aba": "0.65.0 to 0.68.1",
    },
    "core.codegen:CPUCodeLibrary.serialize_using_object_code": {
        "a895c26d01bad670463c4b4f1013b3c1": "0.65.0 to 0.68.1",
    },
    "core.codegen:CPUCodegen._scan_and_fix_unresolved_refs": {
        "eeef8fe38ad474e034fd0bd4f0ec4f86": "0.65.0 to 0.68.1",
    },
    "core.codegen:JitEngine": {
        "12659a1d07ed36afef55b86ccea09811": "0.65.0 to 0.68.1",
    },
    "core.codegen:RuntimeLinker": {
        "e307c5a8effaccbfa9161f5242161194": "0.65.0 to 0.68.1",
    },
    "core.compiler:CompileResult": {
        "a4eb4c8684b407374f9cba70bc37b980": "0.65.0 to 0.68.1",
    },
    "core.compiler:CompilerBase.__init__": {
        "394d87ab2f366cb1694e25c99ec1771c": "0.65.0 to 0.68.1",
    },
    "core.cpu:CPUContext.load_additional_registries": {
        "827136d072d9a65152b171da5ffea3b6": "0.65.0 to 0.65.1",
        "00bf2570f5bb580102f29a669dce45df": "0.66.0 to 0.67.0",
        "0383d5716d370fa9dec6a024292ddbd0": "0.68.0 to 0.68.1",
    },
    "core.cpu:CPUTargetOptions": {
        "14e477be9c25f1336bff60f4804c3469": "0.65.0 to 0.68.1",
    },
    "core.dispatcher:Dispatcher.__init__": {
        "7b7bc34e60e752412656316528c6b20b": "0.65.0 to 0.68.1",
    },
    "core.dispatcher:Dispatcher.compile": {
        "0ab4aee15e79bb1d17c7d87c3b6e61f3": "0.65.0 to 0.68.1",
    },
    "core.dispatcher:Dispatcher.enable_caching": {
        "8c75d787fa6845ba343dae4fd67ec493": "0.65.0 to 0.68.1",
    },
    "core.dispatcher:_DispatcherBase.disable_compile": {
        "c00ead140696def1b57eaa6cba3d1069": "0.65.0 to 0.68.1",
    },
    "core.dispatcher:_FunctionCompiler": {
        "cf89fa9937346edd7bc999d9c28102cb": "0.65.0 to 0.68.1",
    },
    "core.environment:Environment": {
        "5724abb710dca6fffc097bd7617faaf6": "0.65.0 to 0.68.1",
    },
    "core.environment:_rebuild_env": {
        "f946d544aa9ef65ecda42869504a2067": "0.65.0 to 0.68.1",
    },
    "core.event:Event": {
        "68ad83cb4233c51efa1456ae491d9cbd": "0.65.0 to 0.68.1",
    },
    "core.event:broadcast": {
        "0c3ca6589b311970c64e9f556e8f983e": "0.65.0 to 0.68.1",
    },
    "core.event:trigger_event": {
        "1735052dec9b7d0652da4d8d79cac572": "0.65.0 to 0.68.1",
    },
    "core.extending:_Intrinsic": {
        "2a3cbb4bc157a2c6a7ec69f063fd94d9": "0.65.0 to 0.66.0",
        "643c4107ff133e4952adfa664458103b": "0.67.0 to 0.68.1",
    },
    "core.funcdesc:FunctionDescriptor": {
        "15b4711102dba9537ff67643dfc49dd8": "0.65.0 to 0.68.1",
    },
    "core.imputils:Registry": {
        "63885ff84d731dc5b25a7ee3a5a91e36": "0.65.0 to 0.65.1",
        "40421e2b8bed941ca0074c9d2deeabde": "0.66.0 to 0.68.1",
    },
    "core.pythonapi:PythonAPI.serialize_object": {
        "84025811524cd27003b10d8721651981": "0.65.0 to 0.66.0",
        "dbfbd12aeeb4529d669dd011631ec739": "0.67.0 to 0.68.1",
    },
    "core.pythonapi:PythonAPI.serialize_uncached": {
        "7eb0c2f9ac25653a76981a128425769c": "0.65.0 to 0.66.0",
        "7916da1a2aea9f97ea7b6c2bc067805f": "0.67.0 to 0.68.1",
    },
    "core.rewrites.registry:RewriteRegistry": {
        "5ca4a27f08b8f41c8856c48413e7de03": "0.65.0 to 0.68.1",
    },
    "core.serialize:NumbaPickler": {
        "1ecbdf73100c2e0e83b4f1f53c327a34": "0.65.0 to 0.68.1",
    },
    "core.serialize:dumps": {
        "7b264fbf25a2fcfa39b2b9fb7c3d0742": "0.65.0 to 0.68.1",
    },
    "core.targetconfig:ConfigStack": {
        "4818690973e91af93222f8dd0790c1c8": "0.65.0 to 0.68.1",
    },
    "core.targetconfig:TargetConfig.inherit_if_not_set": {
        "98cc3cd053bd0d6a9d02bdb4ba8a0a69": "0.65.0 to 0.68.1",
    },
    "core.typeconv.rules:_init_casting_rules": {
        "cdb03f1a78600369d767e81d23885149": "0.65.0 to 0.68.1",
    },
    "core.typeconv.typeconv:TypeManager": {
        "113ebeb1a568a34329f4fc893a021689": "0.65.0 to 0.68.1",
    },
    "core.types.abstract:Type": {
        "50647acf2754141bfe17e40395d42757": "0.65.0 to 0.66.0",
        "40dbc5c348c5c730deafdc56a807b98a": "0.67.0 to 0.68.1",
    },
    "core.types.misc:Omitted": {
        "014f82b602aa68db3d5f5b6772b949d0": "0.65.0 to 0.68.1",
    },
    "core.types.misc:SliceLiteral": {
        "9670bb6fedfa8935cf4de93b4041536f": "0.65.0 to 0.68.1",
    },
    "core.typing.context:BaseContext._load_builtins": {
        "b7044cd6ecdbc931b253c769a213f828": "0.65.0 to 0.65.1",
        "0dd81dada6654089594c742f5c9448ee": "0.66.0 to 0.68.1",
    },
    "core.typing.context:BaseContext.install_possible_conversions": {
        "fd045e3bc78663c11228ab5181b73117": "0.65.0 to 0.68.1",
    },
    "core.typing.context:BaseContext.install_registry": {
        "8b38bc0cff80e2fee26ac178f3ee9b34": "0.65.0 to 0.68.1",
    },
    "core.typing.context:BaseContext.refresh": {
        "1440782349211fb661dfbfee922d8c43": "0.65.0 to 0.68.1",
    },
    "core.typing.context:Context.load_additional_registries": {
        "a99a8a1a62aa8bb5186026cde4e17a29": "0.65.0 to 0.68.1",
    },
    "core.typing.templates:Registry": {
        "25318c3344988efa5343bdf8d4036000": "0.65.0 to 0.68.1",
    },
    "core.typing.templates:_IntrinsicTemplate": {
        "4ec94e6150b3e613efa9eb033b00ce7a": "0.65.0 to 0.66.0",
        "665c1012c9581671029c2c3fd5347ba4": "0.67.0 to 0.68.1",
    },
    "core.typing.templates:_OverloadAttributeTemplate": {
        "35e619d7108ea7a90318dc7c0ccfaf2a": "0.65.0 to 0.68.1",
    },
    "core.typing.templates:_OverloadFunctionTemplate": {
        "1a359c8996542aa2d8a0495e5722f9eb": "0.65.0 to 0.68.1",
    },
    "core.typing.templates:_OverloadMethodTemplate": {
        "232013db5efcc91a37efa2762d5bc27b": "0.65.0 to 0.68.1",
    },
    "np.ufunc.dufunc:DUFunc._compile_for_argtys": {
        "084e0d34e24f1a6a6fcbe04ff18ce023": "0.65.0 to 0.68.1",
    },
    "np.ufunc.ufuncbuilder:GUFuncBuilder": {
        "0b63e75871773633d82b7e2f86b98060": "0.65.0 to 0.68.1",
    },
    "np.ufunc.ufuncbuilder:UFuncDispatcher": {
        "98e17df8e2961610d8ac0dbf439488c8": "0.65.0 to 0.68.1",
    },
    "np.ufunc.ufuncbuilder:UFuncTargetOptions": {
        "cf915462740baf9986e80ca2f988eb23": "0.65.0 to 0.68.1",
    },
    "np.ufunc.ufuncbuilder:_build_element_wise_ufunc_wrapper": {
        "789cece2e749356f38fb3805ec2ba12e": "0.65.0 to 0.68.1",
    },
    "np.ufunc.wrappers:_GufuncWrapper": {
        "6cc7b7f5a7a3f053a7fc39de835f83e8": "0.65.0 to 0.68.1",
    },
    "np.ufunc.wrappers:build_ufunc_wrapper": {
        "9b96cd119cf96195a21d56a282d45828": "0.65.0 to 0.68.1",
    },
    "stencils.stencil:StencilFunc": {
        "d6e2f86cdff61c7df26177d736f0bf3f": "0.65.0 to 0.68.1",
    },
    "stencils.stencil:StencilFuncLowerer": {
        "2488d3e802130c7cb5918a847e921881": "0.65.0 to 0.68.1",
    },
    "stencils.stencil:_stencil": {
        "fcc4eea86972a4b5c2dfa9c29a1d0d91": "0.65.0 to 0.68.1",
    },
}
